-- What the api's role may do, whole: applied at the end of every migration, in one transaction. What is not named here is
-- refused, so a new table or function is the controllers' alone until a line here says otherwise. :"api" stands for the
-- role, as in psql. Functions that write the ledger, facts or what is told run as their owner (security definer), with
-- their search_path pinned; each checks what it is given.
revoke create on schema public from public;
revoke all on all tables in schema public from public, :"api";
revoke all on all sequences in schema public from public, :"api";
revoke execute on all functions in schema public from public, :"api";
grant usage on schema public to :"api";

-- Read: views, facts, the ledger, what was told.
grant select on installation, unbound_disagreement, development, dev_clock, mirror, migrations to :"api";
-- What everything is derived from, under the seal of a key that the api holds.
grant select on roots, ring_keys to :"api";
grant execute on function enter_ring_keys to :"api";
grant select on series, register, facts, sends, snapshots, blobs, blob_chunks, outbox to :"api";
-- The clock of a development installation stops where something falls due.
grant select on schedule to :"api";
grant select on audit, audit_heads, quarantine to :"api";
grant select on webhook_endpoints, deliveries, event_heads, events to :"api";
grant select on issuers, issuer_logos, send_slots, send_days, ai_places to :"api";
grant select on host_routes, host_names, certificate_orders to :"api";
grant execute on function certificate_use to :"api";
grant select on site_places, publish_places, site_queue, site_renderings, site_brands to :"api";
grant select on site_days, site_day_names, site_messages, site_provenances to :"api";
grant update (created_at) on app_sources to :"api";
grant select on app_rooms, app_previews to :"api";
grant execute on function host_rooms to :"api";
grant select on app_sources, app_uploads, app_env, app_passwords, app_operations, app_steps, app_releases, app_revisions,
  app_log_requests, app_log_chunks, app_plans, app_access_links, app_access_uses, app_runs, app_run_output,
  app_backups, app_backup_parts to :"api";
grant select on app_kept_logs, app_kept_lines, app_minutes, app_episodes to :"api";
grant select on devboxes, devbox_history, devbox_envs, devbox_report_heads, devbox_reports to :"api";

-- Access is the api's own: tokens, sessions, links to sign in by, wrong passwords, repeated requests.
grant select, insert, update on tokens to :"api";
grant select, insert, delete, update (revoked_at, seen_at) on sessions to :"api";
grant select, insert, update (verifies_until) on session_keys to :"api";
grant select, update (used_at) on signins to :"api";
grant select, insert, update, delete on attempts, idempotency to :"api";
grant select, insert, update on operations to :"api";

-- Settings of accounts, and what they bring.
grant insert, update, delete on webhook_endpoints to :"api";
grant update (state, fault, due_at, lease_until, settled_at) on deliveries to :"api";
grant insert, update, delete on ai_places, site_brands, site_provenances, devbox_envs, app_log_requests to :"api";
grant delete on app_log_chunks to :"api";
grant insert, update on app_uploads to :"api";
grant select, insert, update, delete on app_registries to :"api";
grant select, insert, delete on account_ssh_keys to :"api";
grant select, insert, update, delete on devbox_env_fetches to :"api";
grant insert on app_sources, app_env, app_passwords to :"api";
-- Plans, and links that open private apps.
grant insert, update, delete on app_plans, app_access_links to :"api";

-- Nothing but what they are given is read or made of it.
grant execute on function iso_ms, link_hash, genesis_hash, register_entry, register_line, audit_entry, format_number, account_lock
  to :"api";
grant execute on function app_operation_row, app_release_row, app_run_row, app_backup_row to :"api";
-- Reads.
grant execute on function app_decision_rows, observe_resources, documents_of, frozen_document, rollup, verify_series, verify_audit,
  devbox_committed, host_credential_version, link_versions to :"api";
-- Writes of tables that are the api's own.
grant execute on function mint_token, reserve_key, create_endpoint, add_ssh_key, bring_devbox_env, take_ai_place, lapse_app_logs to :"api";
-- Facts, the audit, what is shown until the controllers have judged it.
grant execute on function report_facts, append_audit, show_mirror, put_blobs, report_devbox, note_devbox to :"api";
-- That a deletion was asked for, and under which uid what is on record stands.
grant execute on function ask_deletion, take_back_deletion, origins_of to :"api";
-- Reservations.
grant select on places, place_namespaces to :"api";
grant execute on function claim_places, move_place to :"api";
grant execute on function take_send_slots, give_back_send_slot, take_site_place, give_back_site_place, claim_site_name,
  claim_base_domain, release_base_domain, ask_base_look, base_domains,
  claim_app_names, ask_app_look, app_names, use_access_link,
  take_publish_place, take_app_slug, give_back_app_slug, take_app_room, give_back_app_room, take_app_preview, give_back_app_preview, reserve_devbox, release_devbox_reservation to :"api";
-- What the controllers are asked to do.
grant execute on function ask_signin, store_app_outcome, arrive_in_site_queue, ask_issuer_logo,
  drop_issuer_logo, put_host_credential, take_back_host_credential, take_back_app_env, take_back_app_operation, ask_app_run, cancel_app_run,
  ask_app_backup, cancel_app_backup, delete_app_backup, receive_site_message, drop_site_message, ping_endpoint, tell_wake, redeliver_events, release_quarantined, reckon_anew to :"api";
-- The seller, with the number that a series begins at: refused once it has given one.
grant execute on function create_issuer, change_issuer to :"api";
-- The clock of a development installation.
grant execute on function move_dev_clock to :"api";
