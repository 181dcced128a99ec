-- By what the parts of one installation know one another (hack/decisions/036). The Lease of the cluster carries id and epoch too.
alter table installation
  add column id uuid not null default gen_random_uuid(),
  -- Of the platform in that cluster. Null: the database is older than this column, and takes that of its next leader.
  add column namespace text,
  -- Follows from the secret key and tells nothing of it (controllers/base/keys.ts). Null: as above.
  add column key_check text,
  -- The last epoch that the Lease was seen to carry: one that carries less was put back to an earlier day.
  add column kept_epoch bigint not null default 0,
  -- Since when a reconcile is on its way that has not come to its end: nobody leads until it has.
  add column reconciling timestamptz(3);
