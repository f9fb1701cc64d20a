// SPDX-License-Identifier: Apache-2.0
// Serves the built page with runs that do not exist:  node mock/main.js [PORT] [watch]
import { MockServer } from './server.js';

const server = new MockServer({ role: process.argv[3] === 'watch' ? 'watch' : 'control' });
console.log(await server.start(Number(process.argv[2] ?? 8090)));
