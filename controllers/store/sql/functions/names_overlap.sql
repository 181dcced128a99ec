-- Whether two names cannot be two accounts': they are one, or one lies below the other, which is a base domain (`*.<domain>`).
create or replace function names_overlap(in_one text, in_other text) returns boolean
language sql immutable
return in_one = in_other
  or starts_with(in_one, '*.') and (in_other = substr(in_one, 3) or right(in_other, length(in_one) - 1) = substr(in_one, 2))
  or starts_with(in_other, '*.') and (in_one = substr(in_other, 3) or right(in_one, length(in_other) - 1) = substr(in_other, 2));
