-- Whether a name, or what lies above or below it, is another account's, and kept beyond in_at by the platform's clock.
create or replace function is_name_held(in_name text, in_account text, in_at timestamptz) returns boolean
language plpgsql stable
as $$
begin
  return exists (
    select from site_names s
    where s.root = coalesce(substring(in_name from '[^.]+[.][^.]+$'), in_name) and s.account <> in_account
      and s.state in ('verified', 'missing', 'lapsed', 'quarantined') and (s.until is null or s.until > in_at)
      and names_overlap(s.name, in_name)
  );
end
$$;
