#!/usr/bin/env bash
# Makes a virtual environment with other readers of our files: pyarrow, polars, duckdb, numpy, pandas, scipy.
# Of versions that our files were read with, so that what is tested does not change with what was published today; the newest where one of these
# is not to be had for the Python that is here.
# usage: tests/peers/setup.sh FOLDER      quiet; on failure says why on stderr and exits with 1, leaving no half-made folder
set -euo pipefail
folder=${1:?usage: setup.sh FOLDER}
pandas="pandas==3.1.1 scipy==1.17.1"
if [ -f "$folder/ready" ]; then
  # One that was made before pandas and scipy were asked for gets them; without them their tests are skipped, and this says why.
  if ! "$folder/bin/python" -c 'import importlib.util as u, sys; sys.exit(not (u.find_spec("pandas") and u.find_spec("scipy")))'; then
    log=$("$folder/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 $pandas 2>&1) \
      || echo "no pandas and scipy: $(tail -n 1 <<<"$log")" >&2
  fi
  exit 0
fi
fail() {
  echo "$1" >&2
  rm -rf "$folder.part-$$"
  exit 1
}
command -v python3 >/dev/null || fail "there is no python3"
mkdir -p "$(dirname "$folder")"
log=$(python3 -m venv "$folder.part-$$" 2>&1) || fail "no virtual environment: $(tail -n 1 <<<"$log")"
install() { "$folder.part-$$/bin/python" -m pip install --quiet --disable-pip-version-check --retries 1 --timeout 20 "$@"; }
log=$(install pyarrow==26.0.1 polars==2.1.0 duckdb==2.0.1 numpy==2.4.6 $pandas 2>&1) ||
  log=$(install pyarrow polars duckdb numpy pandas scipy 2>&1) || fail "pip: $(tail -n 1 <<<"$log")"
touch "$folder.part-$$/ready"
# A venv runs from any place as long as it is called by its own python; the first to be done wins.
mv -T "$folder.part-$$" "$folder" 2>/dev/null || rm -rf "$folder.part-$$"
[ -f "$folder/ready" ]
