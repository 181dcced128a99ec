# stdin: slug, 0, the backup, its volume, 'moment' or 'live', bytes of an archive at most, MiB that may be copied, seconds for that.
# Packs what a volume holds. Says `packed <bytes> <sha256> <how>`.
for name in wanted limit room seconds; do IFS= read -r "$name" || exit 64; done
is_own || fail "$exit_volume_missing"
if ! { mkdir -p -m 700 "$app/backups" "$here" && writable "$here/kept"; }; then exit 1; fi
drop_copy
source=$volume how=$wanted
if [ "$wanted" != live ]; then
  how=stopped
  if [ -n "$(users_of "$volume")" ]; then
    copy_volumes "$backup-copy" "$room" "$seconds" "$volume" "${backup}_copy" || { drop_copy; fail "$exit_not_copied" "$why"; }
    source="${backup}_copy" how=$moment
  fi
fi
pack_volume "$source" "$limit" "$how"
code=$?
drop_copy
[ "$code" = 0 ] || fail "$code" "$said"
# Whoever began to write meanwhile has made two moments of it.
[ "$how" != stopped ] || [ -z "$(users_of "$volume")" ] || fail "$exit_not_copied" 'a service that mounts it was started meanwhile'
say packed $said "$how"
