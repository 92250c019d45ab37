// SPDX-License-Identifier: Apache-2.0
// Every text that people read, in one place: strings/ has a file for what all share and one
// for each view. What takes part in a sentence is a parameter, never glued to it.
import { audit } from './strings/audit';
import { common } from './strings/common';
import { inbox } from './strings/inbox';
import { net } from './strings/net';
import { overview } from './strings/overview';
import { parts } from './strings/parts';
import { people } from './strings/people';
import { room } from './strings/room';
import { rows } from './strings/rows';
import { rules } from './strings/rules';
import { schema } from './strings/schema';
import { sentences } from './strings/sentences';
import { servers } from './strings/servers';
import { settings } from './strings/settings';
import { signin } from './strings/signin';
import { teams } from './strings/teams';
import { views } from './strings/views';

export const t = { audit, common, inbox, net, overview, parts, people, room, rows, rules, schema, sentences, servers, settings, signin, teams, views };
