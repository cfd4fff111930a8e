package lsp

// The part of LSP 3.17 that the server speaks, in the specification's names. Positions count lines from 0 and columns in UTF-16 units from 0.
type (
	position struct {
		Line      int `json:"line"`
		Character int `json:"character"`
	}
	span struct {
		Start position `json:"start"`
		End   position `json:"end"`
	}
	location struct {
		URI   string `json:"uri"`
		Range span   `json:"range"`
	}
	documentID struct {
		URI string `json:"uri"`
	}
	workspaceFolder struct {
		URI  string `json:"uri"`
		Name string `json:"name"`
	}

	initializeParams struct {
		RootURI      string            `json:"rootUri"`
		Folders      []workspaceFolder `json:"workspaceFolders"`
		Capabilities struct {
			TextDocument struct {
				Hover struct {
					ContentFormat []string `json:"contentFormat"`
				} `json:"hover"`
				DocumentSymbol struct {
					Hierarchical bool `json:"hierarchicalDocumentSymbolSupport"`
				} `json:"documentSymbol"`
				PublishDiagnostics struct {
					RelatedInformation bool `json:"relatedInformation"`
				} `json:"publishDiagnostics"`
			} `json:"textDocument"`
		} `json:"capabilities"`
	}
	initializeResult struct {
		Capabilities serverCapabilities `json:"capabilities"`
		ServerInfo   serverInfo         `json:"serverInfo"`
	}
	serverInfo struct {
		Name    string `json:"name"`
		Version string `json:"version,omitempty"`
	}
	serverCapabilities struct {
		PositionEncoding string                `json:"positionEncoding"`
		TextDocumentSync textDocumentSync      `json:"textDocumentSync"`
		Hover            bool                  `json:"hoverProvider"`
		Definition       bool                  `json:"definitionProvider"`
		DocumentSymbol   bool                  `json:"documentSymbolProvider"`
		Formatting       bool                  `json:"documentFormattingProvider"`
		Workspace        workspaceCapabilities `json:"workspace"`
	}
	textDocumentSync struct {
		OpenClose bool `json:"openClose"`
		Change    int  `json:"change"`
		Save      bool `json:"save"`
	}
	workspaceCapabilities struct {
		Folders struct {
			Supported           bool `json:"supported"`
			ChangeNotifications bool `json:"changeNotifications"`
		} `json:"workspaceFolders"`
	}

	didOpenParams struct {
		Document struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
			Text    string `json:"text"`
		} `json:"textDocument"`
	}
	didChangeParams struct {
		Document struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
		} `json:"textDocument"`
		Changes []struct {
			Range *span  `json:"range"`
			Text  string `json:"text"`
		} `json:"contentChanges"`
	}
	documentParams struct {
		Document documentID `json:"textDocument"`
	}
	positionParams struct {
		Document documentID `json:"textDocument"`
		Position position   `json:"position"`
	}
	foldersParams struct {
		Event struct {
			Added   []workspaceFolder `json:"added"`
			Removed []workspaceFolder `json:"removed"`
		} `json:"event"`
	}

	diagnosticsParams struct {
		URI         string       `json:"uri"`
		Version     *int         `json:"version,omitempty"`
		Diagnostics []diagnostic `json:"diagnostics"`
	}
	diagnostic struct {
		Range    span      `json:"range"`
		Severity int       `json:"severity"`
		Code     string    `json:"code"`
		Source   string    `json:"source"`
		Message  string    `json:"message"`
		Related  []related `json:"relatedInformation,omitempty"`
	}
	related struct {
		Location location `json:"location"`
		Message  string   `json:"message"`
	}
	logMessageParams struct {
		Type    int    `json:"type"`
		Message string `json:"message"`
	}
	hover struct {
		Contents markup `json:"contents"`
		Range    span   `json:"range"`
	}
	markup struct {
		Kind  string `json:"kind"`
		Value string `json:"value"`
	}
	textEdit struct {
		Range   span   `json:"range"`
		NewText string `json:"newText"`
	}
	documentSymbol struct {
		Name           string           `json:"name"`
		Detail         string           `json:"detail,omitempty"`
		Kind           int              `json:"kind"`
		Range          span             `json:"range"`
		SelectionRange span             `json:"selectionRange"`
		Children       []documentSymbol `json:"children,omitempty"`
	}
	symbolInformation struct {
		Name      string   `json:"name"`
		Kind      int      `json:"kind"`
		Location  location `json:"location"`
		Container string   `json:"containerName,omitempty"`
	}
)

// Values of the specification's enumerations.
const (
	syncFull      = 1
	severityError = 1
	messageError  = 1

	symbolField      = 8
	symbolEnum       = 10
	symbolFunction   = 12
	symbolConstant   = 14
	symbolEnumMember = 22
	symbolStruct     = 23
	symbolType       = 26 // TypeParameter, as other servers show a type's other name
)
