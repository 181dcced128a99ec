-- <PREFIX>-<YYY>-<NNNN>: four digits, more when they are needed (rules/invoice.md#numbering).
create or replace function format_number(in_prefix text, in_seq bigint) returns text
language sql immutable
return in_prefix || lpad(in_seq::text, greatest(4, length(in_seq::text)), '0');
