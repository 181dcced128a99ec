# stdin: slug, number, listing, time (crds/app/sources/files.ts); then a compressed tar of the files. Whole or not at all. A folder
# that stands there counts only if it holds the same: another app may have had the name and the number. What was written
# just now is looked at by the job that makes use of it.
IFS= read -r listing && IFS= read -r time || exit 64
holds "$here/source" "$listing" && exit 0
mkdir -p -m 700 "$app" "$here" || exit 1
rm -rf "$here/source" "$here/source.partial" && mkdir "$here/source.partial" || exit 1
tar -xz -f - --no-same-owner -C "$here/source.partial" || exit 1
find "$here/source.partial" -exec touch -h -d "@$time" {} + && mv "$here/source.partial" "$here/source"
