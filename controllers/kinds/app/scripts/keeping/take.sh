# stdin: slug, 0, the backup, the byte to begin at, how many at most. Gives them of what is kept.
IFS= read -r backup && IFS= read -r from && IFS= read -r most || exit 64
tail -c "+$((from + 1))" "$app/backups/$backup/kept/pack" | head -c "$most"
