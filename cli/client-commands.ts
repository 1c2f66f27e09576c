import type { Command } from 'commander'

/** The client commands. Each is loaded when it is called. */
export const CLIENT_COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  login: async () => (await import('./commands/login.ts')).login,
  logout: async () => (await import('./commands/logout.ts')).logout,
  whoami: async () => (await import('./commands/whoami.ts')).whoami,
  profiles: async () => (await import('./commands/profiles.ts')).profiles,
  env: async () => (await import('./commands/env.ts')).env,
  models: async () => (await import('./commands/models.ts')).models,
  tiers: async () => (await import('./commands/tiers.ts')).tiers,
  chat: async () => (await import('./commands/chat.ts')).chat,
}
