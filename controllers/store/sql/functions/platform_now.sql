-- The platform's clock, which a development installation moves forward.
create or replace function platform_now() returns timestamptz(3)
language sql stable
return now() + coalesce((select c.offset_ms from dev_clock c), 0) * interval '1 millisecond';
