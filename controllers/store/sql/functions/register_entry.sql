-- How an accountant recomputes a hash, with nothing but sha256 over UTF-8 text:
--   sha256( prev_hash \n number \n resource \n kind \n total_cents \n currency \n issued_at )
-- prev_hash is the hash of the entry before in lower-case hex, for the first entry the sha256 of the series' id;
-- total_cents in decimal, issued_at as 2026-11-21T09:30:00.000Z. This function is the part after the first newline.
create or replace function register_entry(
  in_number text, in_resource text, in_kind text, in_total_cents bigint, in_currency text, in_issued_at timestamptz
) returns text
language sql stable
return in_number || e'\n' || in_resource || e'\n' || in_kind || e'\n' || in_total_cents::text || e'\n'
  || in_currency || e'\n' || iso_ms(in_issued_at);
