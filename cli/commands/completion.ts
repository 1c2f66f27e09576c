import { Argument, Option, type Command } from 'commander'
import { clientCommand } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { writeBashScript } from '../completion/bash-script.ts'
import { describeCommands, LIST_KINDS, type ListKind, type NamedCommand } from '../completion/command-tree.ts'
import { writeFishScript } from '../completion/fish-script.ts'
import { listWords } from '../completion/list-words.ts'
import { writeZshScript } from '../completion/zsh-script.ts'
import { EXIT } from '../exit-codes.ts'

const SCRIPTS = { bash: writeBashScript, zsh: writeZshScript, fish: writeFishScript } as const

interface CompletionOptions {
  readonly list?: ListKind
}

type Load = () => Promise<Command>

/** Creates the command that writes the completion of all commands. Those of the operator are known by name. */
export function createCompletion(
  commands: Readonly<Record<string, Load>>,
  operators: readonly NamedCommand[],
): Command {
  return clientCommand<CompletionOptions>({
    name: 'completion',
    summary: 'Print the completion of a shell: of commands, options, files, and ids of the gateway.',
    example: 'source <(parkway completion bash)',
    define: (command) =>
      command
        .addArgument(new Argument('[shell]', 'the shell').choices(Object.keys(SCRIPTS)))
        .addOption(
          new Option('--list <kind>', 'print words of the gateway').choices([...LIST_KINDS]).hideHelp(),
        )
        .addHelpText('after', INSTALLATION),
    async act({ output, connect }, { list }, shell) {
      if (list !== undefined) {
        for (const word of await listWords(list, connect)) output.line(word)
        return
      }
      const write = SCRIPTS[shell as keyof typeof SCRIPTS] as typeof writeBashScript | undefined
      if (write === undefined)
        throw new CommandFailure(EXIT.usage, `Name a shell: ${Object.keys(SCRIPTS).join(', ')}.`)
      const clients = await Promise.all(Object.values(commands).map((load) => load()))
      output.write(write(describeCommands(clients, operators)))
    },
  })
}

const INSTALLATION = `
To keep it:
  bash  echo 'source <(parkway completion bash)' >> ~/.bashrc
  zsh   echo 'source <(parkway completion zsh)' >> ~/.zshrc
  fish  parkway completion fish > ~/.config/fish/completions/parkway.fish`
