"use strict";

// Starts the language server that ixprove has, once a program is opened, and stops it with the window.
const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = () => {
  const command = workspace.getConfiguration("ixprove").get("path", "ixprove");
  client = new LanguageClient("ixprove", "ixprove", { command, args: ["lsp"] }, {
    documentSelector: [{ language: "ix" }],
    synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.ix") },
  });
  return client.start();
};

exports.deactivate = () => client?.stop();
