import { clientCommand } from '../client-command.ts'
import { findPage, PAGES } from '../open/find-page.ts'
import { openBrowser } from '../output/open-browser.ts'

export const open = clientCommand<{ readonly print?: boolean }>({
  name: 'open',
  summary: 'Open the page of anything in the browser: a request, a task, a key, a model, a project.',
  example: 'parkway open gpt-5.4',
  define: (command) =>
    command
      .argument('[thing]', `an id, a model, or ${Object.keys(PAGES).join(', ')}`)
      .option('--print', 'only print the address'),
  async act({ output, isJson, connect, printJson }, { print }, thing = 'home') {
    const gateway = connect()
    const address = `${gateway.connection.baseUrl}${await findPage(gateway, thing)}`
    if (isJson) return printJson({ url: address })
    output.line(address)
    // A program reads the address; a person wants the page.
    if (print !== true && output.isTerminal) openBrowser(address)
  },
})
