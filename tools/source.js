// SPDX-License-Identifier: Apache-2.0
//
// What check-layers and lint share: finding source files, and C text without comments and
// literals, in which every remaining byte keeps its line and column.
'use strict';
const fs = require('fs');
const path = require('path');

// All files below a folder, as paths relative to root; none if there is no such folder.
function filesBelow(root, folder) {
  const full = path.join(root, folder);
  if (!fs.existsSync(full)) return [];
  return fs
    .readdirSync(full, { withFileTypes: true })
    .filter((entry) => entry.name !== 'node_modules')
    .flatMap((entry) => {
      const name = path.posix.join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(root, name) : [name];
    })
    .sort();
}

const TOKEN = /\/\*[^]*?(?:\*\/|$)|\/\/[^\n]*|"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/g;
const blank = (text) => text.replace(/[^\n]/g, ' ');

// `code` has neither comments nor what stands in literals; `text` has the literals.
function readC(source) {
  const isComment = (token) => token.startsWith('/');
  const text = source.replace(TOKEN, (token) => (isComment(token) ? blank(token) : token));
  const code = source.replace(TOKEN, (token) =>
    isComment(token) ? blank(token) : token[0] + blank(token.slice(1, -1)) + token[0],
  );
  return { source, text, code };
}

const lineOf = (text, index) => text.slice(0, index).split('\n').length;

module.exports = { filesBelow, readC, lineOf };
