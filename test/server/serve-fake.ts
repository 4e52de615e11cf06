// The command line with `serve` running over the fake database: what a child process of cli.test.ts
// executes.
import { loadConfig, processEnvironment } from '../../server/config/config.js';
import { runCommand } from '../../server/command/cli.js';
import { reportFailure } from '../../server/lifecycle/exit-code.js';
import { serve } from '../../server/lifecycle/server.js';
import { FakeDatabase } from '../support/fake-database.js';

async function serveFake(projectDir: string): Promise<number> {
  const flags = new Map([['server.port', processEnvironment.FAKE_PORT ?? '0']]);
  const config = loadConfig({ projectDir, flags, environment: processEnvironment });
  return serve({
    config,
    environment: processEnvironment,
    allowPreload: false,
    openDatabase: async ({ program }) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const database = new FakeDatabase();
      database.program = { ...program, queries: [...program.queries, ...database.program.queries] };
      return database;
    },
  });
}

const [command, projectDir] = process.argv.slice(2);
try {
  const code =
    command === 'serve-fake'
      ? await serveFake(projectDir!)
      : await runCommand(process.argv.slice(2));
  process.exit(code);
} catch (error) {
  process.exit(reportFailure(error));
}
