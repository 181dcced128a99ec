# stdin: slug, number. The folders of an app and of its release: `r<number>/source` holds the files of a release,
# `r<number>/cell` what is told to its builds (parts/building/cell.sh), `r<number>/*.json` its compose documents (mode 0600, they hold env),
# `base/` those of the app's stateful services.
IFS= read -r slug && IFS= read -r number || exit 64
app="$HOME/.bottega/apps/$slug"
here="$app/r$number"
