import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Machine, Network } from './lay-network.ts'

/** Starts haproxy, which sends requests to the gateways whose readiness route says 200. Returns its URL. */
export function startBalancer(network: Network, balancer: Machine, gateways: readonly Machine[]): string {
  const path = join(network.directory, 'haproxy.cfg')
  const servers = gateways.map(({ name, address }) => `  server ${name} ${address}:8080 check`)
  writeFileSync(path, `${CONFIG}\n${servers.join('\n')}\n`)
  balancer.start('haproxy', ['-db', '-f', path])
  return `http://${balancer.address}:8080`
}

/** The check waits longer than the second that the readiness route may take. A request is sent to another gateway only if no connection to the first one could be made. */
const CONFIG = `
global
  maxconn 4096
defaults
  mode http
  timeout connect 2s
  timeout client 150s
  timeout server 150s
  timeout check 2500ms
  retries 2
  option redispatch
  retry-on conn-failure
  http-error status 503 content-type application/json hdr retry-after 1 string '{"error":{"message":"No gateway is ready.","code":"no_gateway_ready"}}'
frontend clients
  bind :8080
  default_backend gateways
backend gateways
  balance roundrobin
  option httpchk GET /readyz
  http-check expect status 200
  default-server inter 500ms fastinter 250ms fall 2 rise 1`
