# stdin: slug, 0, the backup. What is left of it on the host goes.
IFS= read -r backup || exit 64
docker rm -f "$backup-copy" >/dev/null 2>&1
! docker volume inspect "${backup}_copy" >/dev/null 2>&1 || docker volume rm "${backup}_copy" >/dev/null || exit 1
rm -rf "$app/backups/$backup"
rmdir "$app/backups" 2>/dev/null
exit 0
