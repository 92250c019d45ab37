// SPDX-License-Identifier: Apache-2.0
// A conversation, and questions about it with what they must find, whatever keeps the record.
//
//   const said = await converse(gateway, topic)        people: alice, bob, mute (who may say nothing)
//   for (const [query, found] of questions(topic, said))
//       query     parameters of GET /admin/audit
//       found     envelopes, in the order asked for
//   asArguments(query)                                  the same question to `moot audit search`
import { envelope, expect, people, person } from './gateway.mjs';

export const speakers = [...people('alice', 'bob'), person('mute', { capabilities: [] })];

async function say(client, kind, more) {
    const sent = client.send(envelope(client.id, kind, more));

    await expect(client, (json) => json.id === sent.id || json.correlation_id === sent.id);
    return sent;
}

export async function converse(gateway, topic) {
    const alice = await gateway.join('alice', { topic });
    const bob = await gateway.join('bob', { topic });
    const mute = await gateway.join('mute', { topic });
    const one = await say(alice, 'chat', { payload: { text: 'The quick Fuchs' } });
    const two = await say(bob, 'chat', { payload: { text: 'fuchsbau' } });
    const three = await say(alice, 'mcp/request:tools/call', { to: ['bob'], payload: { method: 'tools/call', params: { name: 'Jäger' } } });
    const four = await say(bob, 'mcp/response:tools/call', { to: ['alice'], correlation_id: three.id, payload: { result: {} } });
    const five = await say(mute, 'chat', { payload: { text: 'not allowed' } });

    for (const client of [alice, bob, mute])
        await client.close();
    return { one, two, three, four, five };
}

export const questions = (topic, { one, two, three, four, five }) => [
    [{ topic, event: 'envelope' }, [four, three, two, one]],
    [{ topic, event: 'envelope', order: 'oldest' }, [one, two, three, four]],
    [{ topic, participant: 'bob', event: 'envelope' }, [four, two]],
    [{ topic, kind: 'chat' }, [five, two, one]],
    [{ topic, kind: 'mcp/*' }, [four, three]],
    [{ topic, kind: 'mcp/request:tools/c*' }, [three]],
    [{ topic, verdict: 'capability_violation' }, [five]],
    [{ topic, event: 'refusal' }, [five]],
    [{ topic, text: 'fuchs' }, [one]],
    [{ topic, text: 'FUCHS*' }, [two, one]],
    [{ topic, text: 'quick fuchs' }, [one]],
    [{ topic, text: 'jäger' }, [three]],
    [{ thread: three.id }, [four, three]],
    [{ thread: four.id, order: 'oldest', kind: 'mcp/response:*' }, [four]],
    [{ topic: 'nowhere' }, []],
    [{ topic, event: 'envelope', until: '1h' }, []],
    [{ topic, event: 'envelope', since: '2020-01-01T00:00:00+01:00', until: '2100-01-01T00:00:00Z' }, [four, three, two, one]],
    [{ topic, event: 'envelope', until: '2020-01-01T00:00:00Z' }, []],
    [{ topic, event: 'envelope', since: '1h', limit: '2' }, [four, three]],
];

export const asArguments = ({ order, ...query }) => [
    ...(order === 'oldest' ? ['--oldest-first'] : []),
    ...Object.entries(query).flatMap(([name, value]) => [`--${name}`, value]),
];
