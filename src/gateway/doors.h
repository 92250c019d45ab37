/* SPDX-License-Identifier: Apache-2.0 */
/* The handlers that the route table names, door by door. */
#pragma once

#include "gateway/exchange.h"

/* console_door.c: the web console */
void console_page_get(struct exchange *x);
void console_asset_get(struct exchange *x);

/* messages_door.c: the topics for curl, scripts and webhooks */
void messages_post(struct exchange *x);
void messages_get(struct exchange *x);
void topics_list(struct exchange *x);
void participants_list(struct exchange *x);
void proposals_list(struct exchange *x);

/* inbox_door.c: what waits for somebody's word */
void inbox_get(struct exchange *x);

/* decisions_door.c: what was said before */
void decisions_get(struct exchange *x);

/* rules_door.c */
void rules_list(struct exchange *x);

/* rules_everywhere.c: the rules of all topics */
void rules_get(struct exchange *x);

/* rules_trial.c: what a rule would have done */
void rules_test(struct exchange *x);

/* session_door.c: tickets and the sessions that browsers make of them */
void ticket_post(struct exchange *x);
void session_get(struct exchange *x);
void session_post(struct exchange *x);
void session_delete(struct exchange *x);

/* provider_door.c: signing in at the identity provider */
void session_ways(struct exchange *x);
void session_provider(struct exchange *x);
void session_callback(struct exchange *x);

/* grants_door.c: what participants may do */
void admin_capabilities(struct exchange *x);
void admin_grants(struct exchange *x);
void admin_grant_end(struct exchange *x);

/* rights_door.c: why they may */
void admin_rights(struct exchange *x);

/* admin_door.c, token_door.c: administration */
void admin_topics(struct exchange *x);
void admin_reset_loop_guard(struct exchange *x);
void admin_members(struct exchange *x);
void admin_kick(struct exchange *x);
void admin_pause(struct exchange *x);
void admin_resume(struct exchange *x);
void admin_reload(struct exchange *x);
void admin_link(struct exchange *x);
void tokens_list(struct exchange *x);
void tokens_create(struct exchange *x);
void tokens_revoke(struct exchange *x);

/* topic_door.c: a topic and its switches */
void admin_topic(struct exchange *x);
void admin_set_topic(struct exchange *x);

/* audit_door.c: the record */
void admin_audit(struct exchange *x);
void admin_audit_head(struct exchange *x);
void admin_audit_origin(struct exchange *x);

/* verify_door.c: does it hold? */
void admin_verify(struct exchange *x);
void admin_verify_status(struct exchange *x);
void admin_verify_stop(struct exchange *x);

/* resources_door.c, resources_export.c, resources_import.c: the directory */
void resources_list(struct exchange *x);
void resources_add(struct exchange *x);
void resources_import(struct exchange *x); /* streams its body */
void resource_get(struct exchange *x);
void resource_put(struct exchange *x);
void resource_patch(struct exchange *x);
void resource_delete(struct exchange *x);

/* teams_door.c: teams, for who has to do with them and for administrators */
void teams_get(struct exchange *x);
void teams_post(struct exchange *x);
void team_get(struct exchange *x);
void team_patch(struct exchange *x);
void team_delete(struct exchange *x);
void team_members_post(struct exchange *x);
void team_member_delete(struct exchange *x);
void team_accept(struct exchange *x);
void team_decline(struct exchange *x);

/* settings_door.c */
void admin_settings(struct exchange *x);
void admin_set_settings(struct exchange *x);

/* overview_door.c */
void admin_overview(struct exchange *x);

/* health_door.c */
void health_get(struct exchange *x);
void ready_get(struct exchange *x);
void metrics_get(struct exchange *x);
