#!/bin/sh
# Checks by hand a request that was saved in two files, with openssl alone: for looking into what arrived, not for a server
# (the secret is seen in the list of processes while it runs).
#
#   WEBHOOK_SECRET=whsec_… sh curl.sh check HEADERS BODY [UNIX_SECONDS]
#
# HEADERS holds `Name: value` lines. BODY holds the bytes as they came in, with no line end added. To play a saved request
# back to a receiver of yours: curl -H @HEADERS --data-binary @BODY http://127.0.0.1:8787/
set -eu
: "${WEBHOOK_SECRET:?is not set}"
[ "${1:-}" = check ] && [ $# -ge 3 ] || { echo 'usage: sh curl.sh check HEADERS BODY [UNIX_SECONDS]' >&2; exit 2; }
headers=$2 body=$3 now=${4:-$(date +%s)}

header() { # NAME in lower case
  awk -v name="$1" '{ at = index($0, ":") } tolower(substr($0, 1, at - 1)) == name {
    value = substr($0, at + 1); gsub(/^[ \t]+|[ \t\r]+$/, "", value); print value; exit }' "$headers"
}

is_recent() { # T
  case $1 in '' | *[!0-9]* | ?????????????????*) return 1 ;; esac
  away=$(awk -v a="$now" -v b="$1" 'BEGIN { d = a - b; print (d < 0 ? -d : d) <= 300 }')
  [ "$away" = 1 ]
}

has() { # LIST SEPARATOR PIECE: while a secret is being replaced there are two signatures, any of them will do
  case "$2$1$2" in *"$2$3$2"*) return 0 ;; *) return 1 ;; esac
}

# X-Service-Signature: t=<seconds>,v1=<hex of HMAC-SHA256 over "t.body">, keyed by the whole text of the secret
service() {
  signature=$(header x-service-signature)
  t=$(printf %s "$signature" | tr , '\n' | awk '/^t=/ { print substr($0, 3); exit }')
  hex=$({ printf '%s.' "$t" && cat "$body"; } | openssl dgst -sha256 -hmac "$WEBHOOK_SECRET" -r | cut -d ' ' -f 1)
  has "$signature" , "v1=$hex" && is_recent "$t"
}

# Standard Webhooks: v1,<base64 of HMAC-SHA256 over "id.t.body">, keyed by the bytes that the secret stands for
standard() {
  key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
  t=$(header webhook-timestamp)
  digest=$({ printf '%s.%s.' "$(header webhook-id)" "$t" && cat "$body"; } |
    openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
  has "$(header webhook-signature)" ' ' "v1,$digest" && is_recent "$t"
}

status=0
for scheme in service standard; do
  if $scheme; then echo "$scheme valid"; else echo "$scheme invalid" && status=1; fi
done
exit $status
