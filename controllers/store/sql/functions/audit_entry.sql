-- How anybody recomputes a hash, with nothing but sha256 over UTF-8 text:
--   sha256( prev_hash \n account \n seq \n at \n once \n entry )
-- prev_hash is the hash of the row before in lower-case hex, for the first row the sha256 of 'audit/' and the account;
-- at as 2026-11-21T09:30:00.000Z. link_hash and genesis_hash are those of the register.
create or replace function audit_entry(in_account text, in_seq bigint, in_at timestamptz, in_once text, in_entry text) returns text
language sql stable
return in_account || e'\n' || in_seq::text || e'\n' || iso_ms(in_at) || e'\n' || in_once || e'\n' || in_entry;
