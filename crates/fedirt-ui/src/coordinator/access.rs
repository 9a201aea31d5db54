//! Who may log in, for operators. Works beside a coordinator that runs: it reads the file again when that has changed.

use super::serve::new_key;
use crate::{Access, AccessError, Login, Role, Secret};
use fedirt_coordinator::{Error, Folder, clock};

fn told(error: AccessError) -> Error {
    Error::Told(error.to_string())
}

/// Everybody who may log in.
pub fn logins(folder: &Folder) -> Result<Vec<Login>, Error> {
    Access::at(&folder.access()).read().map_err(told)
}

/// Lets somebody in; returns the key, which is kept nowhere.
pub fn admit(folder: &Folder, name: &str, role: Role) -> Result<Secret, Error> {
    let key = new_key()?;
    Access::at(&folder.access()).add(name, role, &key, &clock::text(clock::now())).map_err(told)?;
    Ok(key)
}

/// Lets somebody in no more.
pub fn revoke(folder: &Folder, name: &str) -> Result<(), Error> {
    Access::at(&folder.access()).revoke(name).map_err(told)
}
