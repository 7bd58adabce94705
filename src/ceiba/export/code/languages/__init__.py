"""Parts of code that trees and networks share: literals, first lines, SQL statements."""
