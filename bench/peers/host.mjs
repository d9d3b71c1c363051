// A host as one would write it with `ws` and `better-sqlite3` in an afternoon: each action is parsed, checked,
// reduced, stored and sent to everybody, one after the other. It speaks as much of the protocol as the benchmark
// needs: initialize with subscriptions, createSession, subscribe, dispatchAction of drafts, ping.
//
//     node host.mjs JOURNAL
//
// prints `ready ws://127.0.0.1:PORT/` once it listens.

import Database from 'better-sqlite3';
import { WebSocketServer } from 'ws';

const database = new Database(process.argv[2]);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = NORMAL');
database.exec('CREATE TABLE IF NOT EXISTS envelopes (seq INTEGER PRIMARY KEY, channel TEXT NOT NULL, data TEXT NOT NULL)');
const store = database.prepare('INSERT INTO envelopes (seq, channel, data) VALUES (?, ?, ?)');

let serverSeq = Date.now() * 1024;
const states = new Map();
const subscribers = new Map();

function isDraft(action) {
  return (
    typeof action === 'object' && action !== null && action.type === 'chat/draftChanged' &&
    (action.draft === undefined ||
      (typeof action.draft.text === 'string' && typeof action.draft.origin === 'object' &&
        action.draft.origin !== null && action.draft.origin.kind === 'user'))
  );
}

function reduce(state, action) {
  return { ...state, draft: action.draft };
}

function follow(socket, channel) {
  const state = states.get(channel);
  if (state === undefined) throw new Error(`there is no channel ${channel}`);
  subscribers.get(channel).add(socket);
  socket.channels.add(channel);
  return { resource: channel, state, fromSeq: serverSeq };
}

function create(channel, state) {
  states.set(channel, state);
  subscribers.set(channel, new Set());
}

const methods = {
  initialize(socket, params) {
    socket.clientId = params.clientId;
    const snapshots = (params.initialSubscriptions ?? []).map((channel) => follow(socket, channel));
    return { protocolVersion: params.protocolVersions[0], serverSeq, snapshots };
  },
  createSession(socket, params) {
    const chat = `ahp-chat://default/${Buffer.from(params.channel).toString('base64url')}`;
    create(params.channel, { title: '', status: 1, chats: [{ resource: chat, title: '' }], defaultChat: chat });
    create(chat, { resource: chat, title: '', status: 1, modifiedAt: new Date().toISOString(), turns: [] });
    return null;
  },
  subscribe: (socket, params) => ({ snapshot: follow(socket, params.channel) }),
  ping: () => null,
};

function dispatch(socket, { channel, clientSeq, action }) {
  const state = states.get(channel);
  if (state === undefined || !Number.isInteger(clientSeq)) return;
  const envelope = { channel, action, serverSeq: ++serverSeq, origin: { clientId: socket.clientId, clientSeq } };
  if (!isDraft(action)) {
    envelope.rejectionReason = 'malformed';
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'action', params: envelope }));
    return;
  }
  states.set(channel, reduce(state, action));
  store.run(serverSeq, channel, JSON.stringify(envelope));
  const text = JSON.stringify({ jsonrpc: '2.0', method: 'action', params: envelope });
  for (const each of subscribers.get(channel)) each.send(text);
}

function answer(socket, { id, method, params }) {
  try {
    const result = methods[method](socket, params);
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }));
  } catch (error) {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32603, message: String(error) } }));
  }
}

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
server.on('connection', (socket) => {
  socket.channels = new Set();
  socket.on('message', (data) => {
    const message = JSON.parse(data);
    if (message.method === 'dispatchAction') dispatch(socket, message.params);
    else if (message.id !== undefined) answer(socket, message);
  });
  socket.on('close', () => {
    for (const channel of socket.channels) subscribers.get(channel).delete(socket);
  });
});
server.on('listening', () => console.log(`ready ws://127.0.0.1:${server.address().port}/`));
process.on('SIGTERM', () => {
  database.close();
  process.exit(0);
});
