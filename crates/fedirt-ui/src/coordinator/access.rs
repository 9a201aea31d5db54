//! Commands for the list of people who may log in. They take effect in a running coordinator too, because it reads the
//! file again when it has changed.

use super::serve::new_key;
use crate::{Access, AccessError, Login, Role, Secret};
use fedirt_coordinator::{Error, Folder, clock};

fn told(error: AccessError) -> Error {
    Error::Told(error.to_string())
}

/// Reads the list of people who may log in.
pub fn logins(folder: &Folder) -> Result<Vec<Login>, Error> {
    Access::at(&folder.access()).read().map_err(told)
}

/// Adds a person and returns the log-in key, which is stored nowhere.
pub fn admit(folder: &Folder, name: &str, role: Role) -> Result<Secret, Error> {
    let key = new_key()?;
    Access::at(&folder.access()).add(name, role, &key, &clock::now().to_string()).map_err(told)?;
    Ok(key)
}

/// Removes a person from the list.
pub fn revoke(folder: &Folder, name: &str) -> Result<(), Error> {
    Access::at(&folder.access()).revoke(name).map_err(told)
}
