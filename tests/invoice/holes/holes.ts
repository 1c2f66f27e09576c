/** A mistake that once gave work away. It is made again in a copy of the source code. */
export interface Hole {
  readonly name: string
  /** Everything that guards against it: one layer would hide that the other is missing. */
  readonly guards: readonly Guard[]
}

interface Guard {
  readonly file: string
  /** Texts of the file, and what they are replaced with. */
  readonly edits: readonly (readonly [string, string])[]
}

export const HOLES: readonly Hole[] = [
  {
    name: 'a document or a video is sent as a picture',
    guards: [
      {
        file: 'src/wires/openai-chat/read-media-part.ts',
        edits: [
          ['if (wanted !== null && declared !== null && stated !== wanted &&', 'if (false &&'],
          ['if (recognised !== null && kind !== null &&', 'if (false &&'],
        ],
      },
    ],
  },
  {
    name: 'pictures and files of a left stream count 1,000 tokens each',
    guards: [
      {
        file: 'src/modules/chat/estimate/count-prompt-tokens.ts',
        edits: [
          [
            'estimateMediaTokens(partsOf(body), family, contextTokens).tokens',
            'family === null ? 0 : countRoughly(partsOf(body))',
          ],
        ],
      },
    ],
  },
  {
    name: 'tools inside a message of a left stream are not counted',
    guards: [
      {
        file: 'src/modules/chat/estimate/is-prompt-counted.ts',
        edits: [['for (const name in body) {', 'for (const name in {}) {']],
      },
    ],
  },
  {
    name: 'a cancelled background response is not read to its usage',
    guards: [
      {
        file: 'src/worker/running-task.ts',
        edits: [["new Set(['cancelled', 'deadline'])", 'new Set()']],
      },
    ],
  },
  {
    name: 'an answer of a revoked key is not read to its usage',
    guards: [
      {
        file: 'src/http/exchange.ts',
        edits: [['this.end(new CallerRefused(reason))', 'this.end(reason)']],
      },
    ],
  },
  {
    name: 'an answer of a cancelled run is not read to its usage',
    guards: [
      {
        file: 'src/modules/compare/runs/run-execution.ts',
        edits: [['isCancelled ? new ClientDisconnected(', 'false ? new ClientDisconnected(']],
      },
    ],
  },
  {
    name: 'an answer that nobody reads any more costs what was delivered',
    guards: [
      {
        file: 'src/modules/chat/call-candidate.ts',
        edits: [
          ['if (attempt.work.sentAtMs === null || isSeenStream(candidate, call)) return 0', 'return 0'],
        ],
      },
    ],
  },
  {
    name: 'tools outside the list of tools are not seen',
    guards: [
      {
        file: 'src/wires/declared-tools.ts',
        edits: [
          ["else if (param === '' || !ownData.has(folded)) search(", 'else if (false) search('],
          ['  search(tool, param, ownData, found)\n', ''],
        ],
      },
    ],
  },
  {
    name: 'names that occur twice are passed on',
    guards: [
      {
        file: 'src/kernel/json/find-repeated-member.ts',
        edits: [['while (at < text.length) {', 'while (false) {']],
      },
    ],
  },
  {
    name: 'names in capital letters are other names',
    guards: [
      {
        file: 'src/kernel/fold-name.ts',
        edits: [["IS_FOLDED.test(name) ? name : name.normalize('NFKC').toLowerCase()", 'name']],
      },
    ],
  },
  {
    name: 'sound in Responses costs what text costs',
    guards: [
      {
        file: 'src/modules/chat/response-operation.ts',
        edits: [
          ['filterByAudio(model, chatOf(body), candidates)', 'candidates'],
          ['audioOfChat(chatOf(body))', 'audioOfChat({ ...chatOf(body), messages: [] })'],
        ],
      },
    ],
  },
  {
    name: 'input pictures of an edit have no price',
    guards: [
      {
        file: 'src/modules/generation/price-work.ts',
        edits: [['nanoUsdPerInputImage * BigInt(countInputImages(work) * outputs)', '0n']],
      },
    ],
  },
  {
    name: 'a background stream that a crash ended is free',
    guards: [
      {
        file: 'src/modules/responses/end-lost-response.ts',
        edits: [
          [
            'await chat.chargeLostResponse(request, { events: readAllEvents(database, place) })',
            'void database',
          ],
        ],
      },
    ],
  },
  {
    name: 'a faster service and a dearer place are passed on',
    guards: [
      {
        file: 'src/providers/requests/billed-members.ts',
        edits: [[", 'deferred', 'speed', 'inference_geo')", ", 'deferred')"]],
      },
      // Requests of the Messages wire are looked through before they reach the members of all wires.
      {
        file: 'src/wires/anthropic-messages/message-features.ts',
        edits: [
          ["  ['speed', 'standard'],\n", ''],
          ["  ['inference_geo', 'global'],\n", ''],
        ],
      },
    ],
  },
  {
    name: 'a deployment that is stopped before it is ready is free',
    guards: [
      {
        file: 'src/modules/deployments/bill/bill-run.ts',
        edits: [
          [
            '  await settle(transaction, options, billed, boundSeconds(run, releasedAtMs, Math.ceil))',
            '  if (run.readyAtMs !== null)\n    await settle(transaction, options, billed, boundSeconds(run, releasedAtMs, Math.ceil))',
          ],
        ],
      },
    ],
  },
]
