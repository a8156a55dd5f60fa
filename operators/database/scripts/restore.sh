#!/bin/bash
# Restores a backup into the new database, whole or not at all. A database with tables is left as it is.
set -eu
file="/backups/${BACKUP:-$(ls -1 /backups | grep '\.dump$' | sort | tail -n 1)}"
if [ ! -f "$file" ]; then echo "there is no backup $file" >&2; exit 1; fi
tables=$(psql --no-psqlrc --tuples-only --no-align --dbname app --command \
  "select count(*) from pg_tables where schemaname not in ('pg_catalog', 'information_schema')")
if [ "$tables" != 0 ]; then echo "the database has $tables tables: nothing is restored"; exit 0; fi
pg_restore --dbname app --no-owner --role app --single-transaction --exit-on-error "$file"
