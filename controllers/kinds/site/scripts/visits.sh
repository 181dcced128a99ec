# What was written of visits and not counted yet. Lines: folder of the sites, bytes at most. Then one line per file that is known: its
# mark, space, bytes counted. Says the time, and of each file `file MARK COUNTED TAKEN SIZE` with so many bytes behind it. A file
# is known by its inode and its first bytes, in which a moment stands, and is open while it is read: it may be renamed under us.
# One that was followed by another and is counted to its end goes. The salt of the day is made here, and that of the day before is
# gone with it. The log is written by the proxy, whoever that runs as, so all may add to the folder and none take from it.
set -u
IFS= read -r root; IFS= read -r most
known=$(cat)
folder="$root/visits"
mkdir -p "$folder" && { [ -d "$folder/log" ] || { mkdir "$folder/log" && chmod 1777 "$folder/log"; }; } || exit 1
today=$(date -u +%F)
case "$(cat "$folder/salt" 2>/dev/null)" in
  "$today "*) ;;
  *)
    salt=$(od -An -vtx1 -N32 /dev/urandom | tr -d ' \n') && [ "${#salt}" -eq 64 ] || exit 1
    printf '%s %s\n' "$today" "$salt" >"$folder/.salt" && mv "$folder/.salt" "$folder/salt" || exit 1
    ;;
esac
printf 'now %s\n' "$(date +%s)"
take() {
  size=$(stat -L -c %s /proc/self/fd/3) && [ "$size" -ge 64 ] || return 0
  mark="$(stat -L -c %i /proc/self/fd/3)-$(head -c 64 /proc/self/fd/3 | sha256sum | cut -c 1-16)"
  counted=$(printf '%s\n' "$known" | sed -n "s/^$mark //p" | head -n 1)
  counted=${counted:-0}
  if [ "$1" != visits.log ] && [ "$counted" -ge "$size" ]; then rm -f "$folder/log/$1"; return 0; fi
  taken=$((size - counted))
  [ "$taken" -le "$most" ] || taken=$most
  [ "$taken" -ge 0 ] || taken=0
  printf 'file %s %s %s %s\n' "$mark" "$counted" "$taken" "$size"
  [ "$taken" -eq 0 ] || tail -c "+$((counted + 1))" /proc/self/fd/3 | head -c "$taken"
  most=$((most - taken))
}
for file in "$folder"/log/visits-*.log "$folder/log/visits.log"; do
  if [ -f "$file" ] && [ ! -L "$file" ]; then { take "${file##*/}"; } 3<"$file"; fi
done
exit 0
