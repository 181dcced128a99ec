# stdin: the file that the proxy dials by, and the address. Whole or not at all; whoever reads it is the proxy.
IFS= read -r file && IFS= read -r address || exit 64
mkdir -p "${file%/*}" && printf '%s' "$address" > "$file.partial" && chmod 644 "$file.partial" && mv "$file.partial" "$file"
