-- What an instance holds is looked up at each of its decisions; without this the planner reads all that are held.
create index devbox_held on devbox_addresses (resource) where released_at is null;
