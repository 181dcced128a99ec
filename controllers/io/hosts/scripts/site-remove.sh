# Lines: root, site.
set -eu
IFS= read -r root; IFS= read -r site
rm -rf "$root/sites/$site"
