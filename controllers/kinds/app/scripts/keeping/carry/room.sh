# stdin: slug, 0, the move. On the other host: MiB that are free where volumes are.
mkdir -p -m 700 "$app" "$app/moves" "$here" "$here/given" || exit 1
docker volume create --label "dev.bottega.copy=$slug" "${move}_room" >/dev/null || exit 1
copier_up "$move-room" -v "$here/given:/from/given:ro" -v "${move}_room:/to/data" && asked measure 60 || said=''
copier_down
docker volume rm "${move}_room" >/dev/null 2>&1
[ -n "$said" ] && echo "${said#* }"
