// In charge of keeping a server that has no setting for its address on the loopback interface: loaded before it.
import { Server } from 'node:net'

const listen: (this: Server, where: { port: number; host: string }) => Server = Server.prototype.listen
Server.prototype.listen = function (this: Server, port: number) {
  return listen.call(this, { port, host: '127.0.0.1' })
} as typeof Server.prototype.listen
