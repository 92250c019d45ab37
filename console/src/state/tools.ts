// SPDX-License-Identifier: Apache-2.0
// A page of tools/list, as an owner answers it: whatever it is, it is looked at first.
import { isObject, type JsonObject } from '../net/types';
import { errorOf } from './calls';

const ERROR_MOST = 300; // characters

export interface ToolsPage {
    tools: JsonObject[];
    next: string | undefined; // the cursor of the next page
    error: string | undefined; // what it says instead
}

export function toolsPage(payload: JsonObject): ToolsPage {
    const error = errorOf(payload);
    const result = isObject(payload['result']) ? payload['result'] : {};
    const { tools, nextCursor } = result;

    return {
        tools: Array.isArray(tools) ? tools.filter(isObject) : [],
        next: typeof nextCursor === 'string' ? nextCursor : undefined,
        error: error ? (error.message || String(error.code ?? '')).slice(0, ERROR_MOST) : undefined,
    };
}
