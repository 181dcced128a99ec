-- Which links of a resource were ended is asked with each mail and each look at a preview: they are few among its facts.
create index facts_of_links on facts (resource) where kind = 'link';
-- What is taken comes with the versions of links that are good. A version that is still running takes what it took before.
drop function if exists turn_outbox(
  text, bigint, bigint[], integer[], text[], text[], timestamptz[], text, timestamptz, timestamptz, integer, boolean
);
