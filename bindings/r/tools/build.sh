#!/bin/sh
# Builds the static library for `src/Makevars`, which calls this in `src`.
set -eu
# A library that is built already, such as when one package is built, installed and checked.
if [ -n "${FEDIRT_LIBRARY:-}" ]; then
  mkdir -p rust
  cp "$FEDIRT_LIBRARY" rust/libfedirtr.a
  exit
fi
PATH="$PATH:${HOME:-/root}/.cargo/bin"
command -v cargo > /dev/null || {
  echo "fedirtr needs Rust: https://rustup.rs, or your system's package of cargo and rustc" >&2
  exit 1
}
profile="${FEDIRT_PROFILE:-release}"
folder="$profile"
[ "$profile" != dev ] || folder=debug

if [ -d workspace ]; then
  # A source tarball: nothing is fetched, nothing is written outside of this folder.
  [ -d workspace/vendor ] || tar -xJf workspace/vendor.tar.xz -C workspace
  manifest=workspace/Cargo.toml
  target="${CARGO_TARGET_DIR:-$PWD/target}"
  mkdir -p cargo
  cp workspace/config.toml cargo/config.toml
  sed -i.bak "s|@VENDOR@|$PWD/workspace/vendor|" cargo/config.toml
  CARGO_HOME="$PWD/cargo"
  export CARGO_HOME
  # Whoever installs the package cannot mend our warnings.
  RUSTFLAGS="${RUSTFLAGS:-} -A warnings"
  export RUSTFLAGS
  flags="--offline -j 2"
else
  manifest=../../../Cargo.toml
  target="${CARGO_TARGET_DIR:-$PWD/../../../target}"
  flags=""
fi
if [ -z "${R_INCLUDE_DIR:-}" ]; then
  R_INCLUDE_DIR="$("${R_HOME:?}/bin/R" --vanilla -s -e 'cat(normalizePath(R.home("include")))')"
  export R_INCLUDE_DIR
fi
# shellcheck disable=SC2086
cargo build --locked --package fedirt-r --features fedirt-r/r --profile "$profile" --manifest-path "$manifest" --target-dir "$target" $flags
mkdir -p rust
cp "$target/$folder/libfedirtr.a" rust/libfedirtr.a
