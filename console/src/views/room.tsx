// SPDX-License-Identifier: Apache-2.0
// Rooms: the list of those one may enter, or one of them.
import type { Route } from '../router';
import { RoomPage } from './room/page';
import { RoomList } from './room/list';

export function RoomView({ route }: { route: Route }) {
    return route.thing ? <RoomPage key={route.thing} topic={route.thing} query={route.query} /> : <RoomList />;
}
