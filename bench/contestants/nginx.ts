import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Contestant, ContestantSetting } from './contestant.ts'

/** A typical reverse proxy in front of a model server: one worker, keep-alive in both directions, no response buffering. */
export const nginx: Contestant = {
  id: 'nginx',
  prepare: async (setting) => {
    const command = findNginx()
    if (command === undefined) return { unavailable: 'nginx is not installed' }
    const configurationPath = join(setting.directory, 'nginx.conf')
    writeFileSync(configurationPath, writeConfiguration(setting))
    return {
      version: spawnSync(command, ['-v'], { encoding: 'utf8' }).stderr.trim().replace('nginx version: ', ''),
      command,
      arguments: ['-p', setting.directory, '-c', configurationPath, '-e', 'stderr', '-g', 'daemon off;'],
      requestHeaders: { authorization: 'Bearer sk-mock' },
      startTimeoutMs: 10_000,
    }
  },
}

function findNginx(): string | undefined {
  return ['nginx', '/usr/sbin/nginx', '/usr/local/sbin/nginx'].find(
    (command) => spawnSync(command, ['-v'], { stdio: 'ignore' }).status === 0,
  )
}

function writeConfiguration({ port, upstreamPort, directory }: ContestantSetting): string {
  const temporaryPaths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `
user ${userInfo().username};
worker_processes 1;
worker_rlimit_nofile 16384;
pid ${directory}/nginx.pid;
events { worker_connections 8192; }
http {
  access_log off;
  ${temporaryPaths.map((name) => `${name}_temp_path ${directory}/${name};`).join('\n  ')}
  keepalive_requests 100000000;
  keepalive_timeout 75s;
  tcp_nodelay on;
  client_body_buffer_size 128k;
  upstream mock {
    server 127.0.0.1:${upstreamPort};
    keepalive 512;
    keepalive_requests 100000000;
  }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
    }
  }
}
`
}
