#!/bin/bash
# Run before the server starts: a Pod that is not the primary begins as a copy of it. A copy that exists
# is kept if the primary still has the changes that it lacks, and is made again if not.
set -eu
if [ "$HOSTNAME" = "$PRIMARY" ]; then exit 0; fi
export PGPASSWORD="$REPLICATION_PASSWORD"
if [ -e "$PGDATA/PG_VERSION" ]; then
  wal=$(pg_controldata "$PGDATA" | sed -n "s/^Latest checkpoint's REDO WAL file: *//p")
  if ! found=$(psql --no-psqlrc --tuples-only --no-align --host "$PGHOST" --username replicator \
    --dbname postgres --command "select count(*) from pg_ls_waldir() where name = '$wal'"); then
    echo "the primary does not answer: the copy is kept"
    exit 0
  fi
  if [ "$found" = 1 ]; then exit 0; fi
  echo "the primary does not have $wal any more: the copy is made again"
fi
rm -rf "$PGDATA"
pg_basebackup --host "$PGHOST" --username replicator --pgdata "$PGDATA" --write-recovery-conf \
  --wal-method stream --checkpoint fast
