-- An instant as every answer and every hash writes it.
create or replace function iso_ms(in_at timestamptz) returns text
language sql stable
return to_char(in_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
