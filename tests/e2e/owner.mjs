// SPDX-License-Identifier: Apache-2.0
// A participant that wants every call authorized (ADR-001), as a bridge with `authorization:
// { mode: always-prompt }` does it: answers -32001, announces, takes decisions, answers again.
//
//   const owner = serveAuthorized(client, { deploy: ({ target }) => `deployed to ${target}` }, { reason, delegate, expiresMs })
//       owner.asked         the announcements so far
//       owner.heard         the decisions that counted: { from, decision, … }
//       owner.kept          what holds for a while, as authorization/list tells it
//       await owner.announced()   the next announcement
import { envelope, within } from './gateway.mjs';

const content = (text) => ({ content: [{ type: 'text', text }] });
const inMs = (ms) => new Date(Date.now() + ms).toISOString();
let count = 0;

export function serveAuthorized(client, tools, { reason = 'it is production', delegate, expiresMs = 60_000 } = {}) {
    const pending = new Map();
    const owner = { asked: [], heard: [], kept: [], taken: 0 };
    let told = () => {};
    const say = (kind, more) => client.send(envelope(client.id, kind, more));
    const answer = ({ id, from, kind, payload }, what) => say(kind.replace('request', 'response'),
        { to: [from], correlation_id: id, payload: { jsonrpc: '2.0', id: payload.id, ...what } });
    const about = ({ id, tool, args, requester, why, expiresAt }) => ({ id, tool, arguments: args, requester, reason: why, expiresAt });
    const announce = (one) => {
        const { id } = say('mcp/request:notifications/authorization/request', {
            ...(one.delegate ? { to: [one.delegate] } : {}), correlation_id: one.request.id,
            payload: { jsonrpc: '2.0', method: 'notifications/authorization/request', params: about(one) } });
        one.announcement = id;
        owner.asked.push({ ...about(one), announcement: id });
        told();
    };
    const run = (request) => answer(request, { result: content(tools[request.payload.params.name](request.payload.params.arguments)) });
    const deny = (request, data) => answer(request, { error: { code: -32002, message: 'Authorization denied', data } });
    const call = (request) => {
        const { name: tool, arguments: args } = request.payload.params;
        const kept = owner.kept.find((one) => one.tool === tool && one.requester === request.from &&
            JSON.stringify(one.arguments) === JSON.stringify(args));

        if (kept) {
            kept.uses++;
            (kept.decision === 'approve' ? run(request) : deny(request, { reason: kept.reason, authorizationId: kept.authorizationId, decidedBy: kept.decidedBy }));
            return;
        }
        const one = { id: `auth-${++count}`, tool, args, requester: request.from, why: reason, expiresAt: inMs(expiresMs), request, delegate };
        pending.set(one.id, one);
        answer(request, { error: { code: -32001, message: 'Authorization required', data: { authorizationRequest: about(one) } } });
        announce(one);
    };
    const respond = ({ from, correlation_id, payload: { params } }) => {
        const one = pending.get(params.authorizationId);

        if (!one || from === one.requester || (one.delegate && one.delegate !== from) || (correlation_id && correlation_id !== one.announcement))
            return;
        owner.heard.push({ from, correlation_id, ...params });
        if (params.decision === 'delegate') {
            one.delegate = params.delegate;
            announce(one);
            return;
        }
        pending.delete(one.id);
        if (params.validUntil)
            owner.kept.push({ authorizationId: one.id, tool: one.tool, arguments: one.args, requester: one.requester,
                decision: params.decision, decidedBy: from, reason: params.reason ?? '', validUntil: params.validUntil, uses: 0 });
        if (params.decision === 'approve')
            run(one.request);
        else
            deny(one.request, { reason: params.reason ?? 'somebody said no', authorizationId: one.id, decidedBy: from });
    };
    const list = (request) => answer(request, { result: { authorizations: owner.kept, pending: [...pending.values()].map((one) => ({
        authorizationId: one.id, tool: one.tool, arguments: one.args, requester: one.requester, reason: one.why,
        ...(one.delegate ? { delegate: one.delegate } : {}), expiresAt: one.expiresAt })) } });
    const revoke = (request) => {
        const at = owner.kept.findIndex(({ authorizationId }) => authorizationId === request.payload.params.authorizationId);

        if (at < 0)
            answer(request, { error: { code: -32602, message: 'there is no such authorization' } });
        else {
            owner.kept.splice(at, 1);
            answer(request, { result: {} });
        }
    };
    const methods = { 'tools/call': call, 'authorization/respond': respond, 'authorization/list': list, 'authorization/revoke': revoke,
        initialize: (request) => answer(request, { result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: client.id, version: '1' } } }),
        'tools/list': (request) => answer(request, { result: { tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })) } }) };

    client.socket.on('message', (text) => {
        const request = JSON.parse(text);

        if (request.kind.startsWith('mcp/request:') && request.to?.includes(client.id))
            methods[request.payload.method]?.(request);
    });
    owner.announced = async () => {
        while (owner.taken === owner.asked.length)
            await within(new Promise((resolve) => { told = resolve; }), 'an announcement');
        return owner.asked[owner.taken++];
    };
    return owner;
}
