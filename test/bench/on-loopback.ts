// Binds a server that has no setting for its address to the loopback interface: loaded before the server.
import { Server } from 'node:net'

const listen: (this: Server, where: { port: number; host: string }) => Server = Server.prototype.listen
Server.prototype.listen = function (this: Server, port: number) {
  return listen.call(this, { port, host: '127.0.0.1' })
} as typeof Server.prototype.listen
