#!/bin/bash
# Run by the entry point of the image, once, after it has made an empty database cluster: makes the
# users and the database of the programs. The server only listens on a local socket meanwhile.
set -eu
echo "host replication replicator all scram-sha-256" >> "$PGDATA/pg_hba.conf"
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --set app="$APP_PASSWORD" \
  --set replicator="$REPLICATION_PASSWORD" --username postgres --dbname postgres << 'SQL'
create role app with login password :'app';
create database app owner app;
create role replicator with replication login password :'replicator' in role pg_monitor;
SQL
