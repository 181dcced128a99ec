# stdin: slug, 0, the move. On the other host: MiB that may come. Packs lie beside the app until they are unpacked where volumes are: on one disk they
# take it twice.
if ! { mkdir -p -m 700 "$app" "$app/moves" "$here" && mkdir -p -m 755 "$here/given"; }; then exit 1; fi
docker volume create --label "dev.bottega.copy=$slug" "${move}_room" >/dev/null || exit 1
copier_up "$move-room" -v "$here/given:/from/given:ro" -v "${move}_room:/to/data" && asked disk 60 || said=''
copier_down
docker volume rm "${move}_room" >/dev/null 2>&1
[ -n "$said" ] || exit 1
home=$(df -Pm "$here" | awk 'NR == 2 { print $2, $4 }')
[ -n "$home" ] || exit 1
spare=512
least=$((${said#* } < ${home#* } ? ${said#* } : ${home#* }))
# A disk is known by its size, or by what is free there: its name is another one in a container, and quotas show a part of it.
apart=$((${said#* } - ${home#* }))
if [ "${said% *}" = "${home% *}" ] || [ "${apart#-}" -le 64 ]; then least=$(((least + spare) / 2)); fi
room=$((least - spare))
echo "$((room > 0 ? room : 0))"
