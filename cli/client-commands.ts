import type { Command } from 'commander'
import type { NamedCommand } from './completion/command-tree.ts'

/** Loads a client command. The commands of the operator are for the one that writes the completion of shells. */
type Load = (operators?: readonly NamedCommand[]) => Promise<Command>

/** The client commands. Each is loaded when it is called. */
export const CLIENT_COMMANDS: Readonly<Record<string, Load>> = {
  login: async () => (await import('./commands/login.ts')).login,
  logout: async () => (await import('./commands/logout.ts')).logout,
  whoami: async () => (await import('./commands/whoami.ts')).whoami,
  token: async () => (await import('./commands/token.ts')).token,
  profiles: async () => (await import('./commands/profiles.ts')).profiles,
  env: async () => (await import('./commands/env.ts')).env,
  models: async () => (await import('./commands/models.ts')).models,
  tiers: async () => (await import('./commands/tiers.ts')).tiers,
  keys: async () => (await import('./commands/account/keys.ts')).keys,
  logs: async () => (await import('./commands/logs.ts')).logs,
  usage: async () => (await import('./commands/account/usage.ts')).usage,
  budget: async () => (await import('./commands/account/budget.ts')).budget,
  budgets: async () => (await import('./commands/organization/budgets.ts')).budgets,
  projects: async () => (await import('./commands/organization/projects.ts')).projects,
  members: async () => (await import('./commands/organization/members.ts')).members,
  invite: async () => (await import('./commands/organization/invite.ts')).invite,
  groups: async () => (await import('./commands/organization/groups.ts')).groups,
  roles: async () => (await import('./commands/organization/roles.ts')).roles,
  scim: async () => (await import('./commands/organization/scim.ts')).scim,
  trust: async () => (await import('./commands/organization/trust.ts')).trust,
  'managed-settings': async () =>
    (await import('./commands/organization/managed-settings.ts')).managedSettings,
  costs: async () => (await import('./commands/organization/costs.ts')).costs,
  statements: async () => (await import('./commands/account/statements.ts')).statements,
  topup: async () => (await import('./commands/account/topup.ts')).topup,
  redeem: async () => (await import('./commands/account/redeem.ts')).redeem,
  chat: async () => (await import('./commands/chat.ts')).chat,
  image: async () => (await import('./commands/make/image.ts')).image,
  edit: async () => (await import('./commands/make/edit.ts')).edit,
  upscale: async () => (await import('./commands/make/upscale.ts')).upscale,
  'bg-remove': async () => (await import('./commands/make/bg-remove.ts')).bgRemove,
  video: async () => (await import('./commands/make/video.ts')).video,
  music: async () => (await import('./commands/make/music.ts')).music,
  speak: async () => (await import('./commands/make/speak.ts')).speak,
  transcribe: async () => (await import('./commands/make/transcribe.ts')).transcribe,
  embed: async () => (await import('./commands/text/embed.ts')).embed,
  rerank: async () => (await import('./commands/text/rerank.ts')).rerank,
  moderate: async () => (await import('./commands/text/moderate.ts')).moderate,
  run: async () => (await import('./commands/text/run.ts')).run,
  tasks: async () => (await import('./commands/tasks.ts')).tasks,
  deploy: async () => (await import('./commands/deploy/deploy.ts')).deploy,
  admin: async () => (await import('./commands/admin/admin.ts')).admin,
  config: async () => (await import('./commands/config/config.ts')).config,
  compare: async () => (await import('./commands/compare/compare.ts')).compare,
  datasets: async () => (await import('./commands/compare/datasets.ts')).datasets,
  connect: async () => (await import('./commands/connect.ts')).connect,
  completion: async (operators = []) =>
    (await import('./commands/completion.ts')).createCompletion(CLIENT_COMMANDS, operators),
  proxy: async () => (await import('./commands/proxy.ts')).proxy,
}
