#!/bin/bash
# Writes a backup, and deletes the oldest of more than RETENTION. A backup that was interrupted has another
# name, and is never restored.
set -eu
rm -f /backups/*.part
file="/backups/$(date -u +%Y%m%dT%H%M%SZ).dump"
pg_dump --format custom --file "$file.part" --dbname app
mv "$file.part" "$file"
ls -1 /backups/*.dump | sort -r | tail -n +"$((RETENTION + 1))" | xargs -r rm --
echo "$file"
