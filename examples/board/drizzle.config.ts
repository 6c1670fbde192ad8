/** The configuration of drizzle-kit, which writes migrations: see README.md. */
export default { dialect: "sqlite", schema: "./src/database/schema.server.ts", out: "./drizzle" };
